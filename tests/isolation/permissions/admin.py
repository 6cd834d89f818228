"""The lines of the permission table for the Django admin of an organisation."""

ADMIN = """
method address                                                                      anonymous  stranger annotator   manager     admin     owner   foreign
any    /o/<organisation>/admin/                                                           302       404       403       403       200       200         -
GET    /o/<organisation>/admin/autocomplete/                                              302       404       403       403       403       403         -
POST   /o/<organisation>/admin/autocomplete/                                              302       404       403       403       405       405         -
GET    /o/<organisation>/admin/jsi18n/                                                    302       404       403       403       200       200         -
POST   /o/<organisation>/admin/jsi18n/                                                    302       404       403       403       405       405         -
any    /o/<organisation>/admin/<app_label>/                                               302       404       403       403       200       200         -
any    /o/<organisation>/admin/<url>                                                      302       404       403       403       404       404         -

any    /o/<organisation>/admin/accounts/project/                                          302       404       403       403       200       200         -
GET    /o/<organisation>/admin/accounts/project/add/                                      302       404       403       403       200       200         -
POST   /o/<organisation>/admin/accounts/project/add/                                      302       404       403       403       400       400         -
any    /o/<organisation>/admin/accounts/project/<object_id>/                              302       404       403       403       302       302       302
GET    /o/<organisation>/admin/accounts/project/<object_id>/change/                       302       404       403       403       200       200       302
POST   /o/<organisation>/admin/accounts/project/<object_id>/change/                       302       404       403       403       400       400       302
any    /o/<organisation>/admin/accounts/project/<object_id>/delete/                       302       404       403       403       403       403       403
any    /o/<organisation>/admin/accounts/project/<object_id>/history/                      302       404       403       403       302       302       302
GET    /o/<organisation>/admin/accounts/project/<project_id>/configuration/               302       404       403       403       200       200       404
POST   /o/<organisation>/admin/accounts/project/<project_id>/configuration/               302       404       403       403       400       400       404
GET    /o/<organisation>/admin/accounts/project/<project_id>/publish/                    302       404       403       403       200       200       404
POST   /o/<organisation>/admin/accounts/project/<project_id>/publish/                    302       404       403       403       400       400       404
any    /o/<organisation>/admin/accounts/project/<project_id>/versions/                    302       404       403       403       200       200       404

any    /o/<organisation>/admin/accounts/membership/                                       302       404       403       403       200       200         -
any    /o/<organisation>/admin/accounts/membership/add/                                   302       404       403       403       403       403         -
any    /o/<organisation>/admin/accounts/membership/<object_id>/                           302       404       403       403       302       302       302
any    /o/<organisation>/admin/accounts/membership/<object_id>/change/                    302       404       403       403       200       200       302
any    /o/<organisation>/admin/accounts/membership/<object_id>/delete/                    302       404       403       403       403       403       403
any    /o/<organisation>/admin/accounts/membership/<object_id>/history/                   302       404       403       403       302       302       302

any    /o/<organisation>/admin/accounts/invitation/                                       302       404       403       403       200       200         -
any    /o/<organisation>/admin/accounts/invitation/add/                                   302       404       403       403       200       200         -
any    /o/<organisation>/admin/accounts/invitation/<object_id>/                           302       404       403       403       302       302       302
GET    /o/<organisation>/admin/accounts/invitation/<object_id>/change/                    302       404       403       403       200       200       302
POST   /o/<organisation>/admin/accounts/invitation/<object_id>/change/                    302       404       403       403       403       403       403
any    /o/<organisation>/admin/accounts/invitation/<object_id>/delete/                    302       404       403       403       403       403       403
any    /o/<organisation>/admin/accounts/invitation/<object_id>/history/                   302       404       403       403       302       302       302
GET    /o/<organisation>/admin/accounts/invitation/<object_id>/renew/                     302       404       403       403       405       405       405
POST   /o/<organisation>/admin/accounts/invitation/<object_id>/renew/                     302       404       403       403       200       200       404
GET    /o/<organisation>/admin/accounts/invitation/<object_id>/revoke/                    302       404       403       403       405       405       405
POST   /o/<organisation>/admin/accounts/invitation/<object_id>/revoke/                    302       404       403       403       302       302       404

any    /o/<organisation>/admin/accounts/auditevent/                                       302       404       403       403       200       200         -
any    /o/<organisation>/admin/accounts/auditevent/add/                                   302       404       403       403       403       403         -
any    /o/<organisation>/admin/accounts/auditevent/<object_id>/                           302       404       403       403       302       302       302
GET    /o/<organisation>/admin/accounts/auditevent/<object_id>/change/                    302       404       403       403       200       200       302
POST   /o/<organisation>/admin/accounts/auditevent/<object_id>/change/                    302       404       403       403       403       403       403
any    /o/<organisation>/admin/accounts/auditevent/<object_id>/delete/                    302       404       403       403       403       403       403
any    /o/<organisation>/admin/accounts/auditevent/<object_id>/history/                   302       404       403       403       302       302       302

any    /o/<organisation>/admin/jobs/job/                                                  302       404       403       403       200       200         -
any    /o/<organisation>/admin/jobs/job/add/                                              302       404       403       403       403       403         -
any    /o/<organisation>/admin/jobs/job/<object_id>/                                      302       404       403       403       302       302       302
GET    /o/<organisation>/admin/jobs/job/<object_id>/change/                               302       404       403       403       200       200       302
POST   /o/<organisation>/admin/jobs/job/<object_id>/change/                               302       404       403       403       403       403       403
any    /o/<organisation>/admin/jobs/job/<object_id>/delete/                               302       404       403       403       403       403       403
any    /o/<organisation>/admin/jobs/job/<object_id>/history/                              302       404       403       403       302       302       302
GET    /o/<organisation>/admin/jobs/job/<object_id>/cancel/                              302       404       403       403       405       405       405
POST   /o/<organisation>/admin/jobs/job/<object_id>/cancel/                              302       404       403       403       302       302       404

any    /o/<organisation>/admin/assignments/batch/                                        302       404       403       403       200       200         -
any    /o/<organisation>/admin/assignments/batch/add/                                    302       404       403       403       403       403         -
any    /o/<organisation>/admin/assignments/batch/<object_id>/                            302       404       403       403       302       302       302
any    /o/<organisation>/admin/assignments/batch/<object_id>/delete/                     302       404       403       403       403       403       403
any    /o/<organisation>/admin/assignments/batch/<object_id>/history/                    302       404       403       403       302       302       302
GET    /o/<organisation>/admin/assignments/batch/<object_id>/change/                     302       404       403       403       200       200       302
POST   /o/<organisation>/admin/assignments/batch/<object_id>/change/                     302       404       403       403       200       200       302
any    /o/<organisation>/admin/traces/importedfile/                                      302       404       403       403       200       200         -
GET    /o/<organisation>/admin/traces/importedfile/add/                                  302       404       403       403       200       200         -
POST   /o/<organisation>/admin/traces/importedfile/add/                                  302       404       403       403       405       405         -
any    /o/<organisation>/admin/traces/importedfile/<object_id>/                          302       404       403       403       302       302       302
GET    /o/<organisation>/admin/traces/importedfile/<object_id>/change/                         302       404       403       403       302       302       302
POST   /o/<organisation>/admin/traces/importedfile/<object_id>/change/                         302       404       403       403       302       302       403
any    /o/<organisation>/admin/traces/importedfile/<object_id>/delete/                   302       404       403       403       403       403       403
any    /o/<organisation>/admin/traces/importedfile/<object_id>/history/                  302       404       403       403       302       302       302

any    /o/<organisation>/admin/accounts/apitoken/                                        302       404       403       403       200       200         -
any    /o/<organisation>/admin/accounts/apitoken/<object_id>/                            302       404       403       403       302       302       302
any    /o/<organisation>/admin/accounts/apitoken/add/                                    302       404       403       403       200       200         -
GET    /o/<organisation>/admin/accounts/apitoken/<object_id>/change/                     302       404       403       403       200       200       302
POST   /o/<organisation>/admin/accounts/apitoken/<object_id>/change/                     302       404       403       403       403       403       403
any    /o/<organisation>/admin/accounts/apitoken/<object_id>/delete/                     302       404       403       403       403       403       403
any    /o/<organisation>/admin/accounts/apitoken/<object_id>/history/                    302       404       403       403       302       302       302
GET    /o/<organisation>/admin/accounts/apitoken/<object_id>/revoke/                     302       404       403       403       405       405       405
POST   /o/<organisation>/admin/accounts/apitoken/<object_id>/revoke/                     302       404       403       403       302       302       404

any    /o/<organisation>/admin/exports/export/                                           302       404       403       403       200       200         -
any    /o/<organisation>/admin/exports/export/add/                                       302       404       403       403       200       200         -
any    /o/<organisation>/admin/exports/export/<object_id>/                               302       404       403       403       302       302       302
GET    /o/<organisation>/admin/exports/export/<object_id>/change/                        302       404       403       403       200       200       302
POST   /o/<organisation>/admin/exports/export/<object_id>/change/                        302       404       403       403       403       403       403
any    /o/<organisation>/admin/exports/export/<object_id>/delete/                        302       404       403       403       403       403       403
any    /o/<organisation>/admin/exports/export/<object_id>/history/                       302       404       403       403       302       302       302
any    /o/<organisation>/admin/exports/exportschedule/                                   302       404       403       403       200       200         -
any    /o/<organisation>/admin/exports/exportschedule/add/                               302       404       403       403       403       403         -
any    /o/<organisation>/admin/exports/exportschedule/<object_id>/history/               302       404       403       403       302       302       302
any    /o/<organisation>/admin/exports/exportschedule/<object_id>/delete/                302       404       403       403       403       403       403
GET    /o/<organisation>/admin/exports/exportschedule/<object_id>/change/                302       404       403       403       200       200       302
POST   /o/<organisation>/admin/exports/exportschedule/<object_id>/change/                302       404       403       403       403       403       403
any    /o/<organisation>/admin/exports/exportschedule/<object_id>/                       302       404       403       403       302       302       302

any    /o/<organisation>/admin/agreement/agreementreport/                               302       404       403       403       200       200         -
any    /o/<organisation>/admin/agreement/agreementreport/add/                           302       404       403       403       403       403         -
any    /o/<organisation>/admin/agreement/agreementreport/<object_id>/                   302       404       403       403       302       302       302
GET    /o/<organisation>/admin/agreement/agreementreport/<object_id>/change/            302       404       403       403       200       200       302
POST   /o/<organisation>/admin/agreement/agreementreport/<object_id>/change/            302       404       403       403       403       403       403
any    /o/<organisation>/admin/agreement/agreementreport/<object_id>/delete/            302       404       403       403       403       403       403
any    /o/<organisation>/admin/agreement/agreementreport/<object_id>/history/           302       404       403       403       302       302       302
any    /o/<organisation>/admin/agreement/agreementrule/                                 302       404       403       403       200       200         -
any    /o/<organisation>/admin/agreement/agreementrule/add/                             302       404       403       403       200       200         -
any    /o/<organisation>/admin/agreement/agreementrule/<object_id>/                     302       404       403       403       302       302       302
GET    /o/<organisation>/admin/agreement/agreementrule/<object_id>/change/              302       404       403       403       200       200       302
POST   /o/<organisation>/admin/agreement/agreementrule/<object_id>/change/              302       404       403       403       302       302       302
any    /o/<organisation>/admin/agreement/agreementrule/<object_id>/delete/              302       404       403       403       403       403       403
any    /o/<organisation>/admin/agreement/agreementrule/<object_id>/history/             302       404       403       403       302       302       302
any    /o/<organisation>/admin/agreement/agreementschedule/                              302       404       403       403       200       200       -
any    /o/<organisation>/admin/agreement/agreementschedule/add/                          302       404       403       403       403       403       -
any    /o/<organisation>/admin/agreement/agreementschedule/<object_id>/history/          302       404       403       403       302       302       302
any    /o/<organisation>/admin/agreement/agreementschedule/<object_id>/delete/           302       404       403       403       403       403       403
GET    /o/<organisation>/admin/agreement/agreementschedule/<object_id>/change/           302       404       403       403       200       200       302
POST   /o/<organisation>/admin/agreement/agreementschedule/<object_id>/change/           302       404       403       403       403       403       403
any    /o/<organisation>/admin/agreement/agreementschedule/<object_id>/                  302       404       403       403       302       302       302

any    /o/<organisation>/admin/agreement/source/                                         302       404       403       403       200       200         -
GET    /o/<organisation>/admin/agreement/source/add/                                     302       404       403       403       200       200         -
POST   /o/<organisation>/admin/agreement/source/add/                                     302       404       403       403       405       405         -
any    /o/<organisation>/admin/agreement/source/<object_id>/                             302       404       403       403       302       302       302
GET    /o/<organisation>/admin/agreement/source/<object_id>/change/                      302       404       403       403       200       200       302
POST   /o/<organisation>/admin/agreement/source/<object_id>/change/                      302       404       403       403       403       403       403
any    /o/<organisation>/admin/agreement/source/<object_id>/delete/                      302       404       403       403       403       403       403
any    /o/<organisation>/admin/agreement/source/<object_id>/history/                     302       404       403       403       302       302       302

any    /o/<organisation>/admin/exports/exportpolicy/                                     302       404       403       403       200       200         -
any    /o/<organisation>/admin/exports/exportpolicy/add/                                 302       404       403       403       403       403         -
any    /o/<organisation>/admin/exports/exportpolicy/<object_id>/                         302       404       403       403       302       302       302
GET    /o/<organisation>/admin/exports/exportpolicy/<object_id>/change/                  302       404       403       403       200       200       302
POST   /o/<organisation>/admin/exports/exportpolicy/<object_id>/change/                  302       404       403       403       302       302       302
any    /o/<organisation>/admin/exports/exportpolicy/<object_id>/delete/                  302       404       403       403       403       403       403
any    /o/<organisation>/admin/exports/exportpolicy/<object_id>/history/                 302       404       403       403       302       302       302
"""  # noqa: E501 - a table is read across
