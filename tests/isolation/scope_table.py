"""With which scopes an API token opens each route: a line a route and method, read beside permission_table.py.

A token of an owner asks, with one scope alone. A new route gets a line here; test_scopes.py prints those that are
missing, with the answers of today: read them before you copy them. Methods that no route has, have no line.
"""

TABLE = """
GET    /api/v1/agreement-schedules/<schedule_id>/                                   read
PUT    /api/v1/agreement-schedules/<schedule_id>/                                   manage
DELETE /api/v1/agreement-schedules/<schedule_id>/                                   manage
PUT    /api/v1/agreement-schedules/<schedule_id>/paused/                            manage
DELETE /api/v1/agreement-schedules/<schedule_id>/paused/                            manage
GET    /api/v1/agreement-schedules/<schedule_id>/runs/                              read
POST   /api/v1/agreement-schedules/<schedule_id>/runs/                              manage
GET    /api/v1/agreement/<report_id>/                                               read
GET    /api/v1/assignments/                                                         annotate read
GET    /api/v1/assignments/<assignment_id>/                                         annotate read
POST   /api/v1/assignments/<assignment_id>/answers/                                 annotate
GET    /api/v1/assignments/<assignment_id>/draft/                                   annotate read
PUT    /api/v1/assignments/<assignment_id>/draft/                                   annotate
POST   /api/v1/assignments/<assignment_id>/heartbeat/                               annotate
GET    /api/v1/assignments/<assignment_id>/lines/                                   annotate read
POST   /api/v1/assignments/<assignment_id>/release/                                 annotate
POST   /api/v1/assignments/<assignment_id>/resume/                                  annotate
POST   /api/v1/assignments/<assignment_id>/skip/                                    annotate
POST   /api/v1/assignments/<assignment_id>/submit/                                  annotate
GET    /api/v1/assignments/<assignment_id>/suggestions/                             annotate read
GET    /api/v1/audit/                                                               admin manage read
POST   /api/v1/configuration/check/                                                 manage
POST   /api/v1/decisions/<decision_id>/undo/                                        manage
GET    /api/v1/export-schedules/<schedule_id>/                                      export
PUT    /api/v1/export-schedules/<schedule_id>/                                      export
DELETE /api/v1/export-schedules/<schedule_id>/                                      export
PUT    /api/v1/export-schedules/<schedule_id>/paused/                               export
DELETE /api/v1/export-schedules/<schedule_id>/paused/                               export
GET    /api/v1/export-schedules/<schedule_id>/runs/                                 export
POST   /api/v1/export-schedules/<schedule_id>/runs/                                 export
GET    /api/v1/exports/<export_id>/                                                 export
GET    /api/v1/exports/<export_id>/file/                                            export
GET    /api/v1/imports/<file_id>/                                                   import read
POST   /api/v1/imports/<file_id>/again/                                             import
POST   /api/v1/imports/<file_id>/cancel/                                            import
GET    /api/v1/imports/<file_id>/files/                                             import read
GET    /api/v1/imports/<file_id>/problems/                                          import read
GET    /api/v1/imports/<file_id>/task-texts/                                        import read
GET    /api/v1/imports/<file_id>/undo/                                              import read
POST   /api/v1/imports/<file_id>/undo/                                              import
GET    /api/v1/projects/<project>/reports/                                          read
GET    /api/v1/projects/<project>/traces/<trace_id>/checks/                         read
GET    /api/v1/projects/<project>/repositories/                                     import read
POST   /api/v1/projects/<project>/repositories/                                     import
GET    /api/v1/projects/<project>/traces/<trace_id>/base/                           read
DELETE /api/v1/repositories/<repository_id>/                                        import
GET    /api/v1/people/                                                              admin
GET    /api/v1/people/<name>/                                                       admin
PATCH  /api/v1/people/<name>/                                                       admin
GET    /api/v1/people/<name>/sessions/                                              admin
DELETE /api/v1/people/<name>/sessions/                                              admin
DELETE /api/v1/people/<name>/sessions/<session>/                                    admin
GET    /api/v1/projects/                                                            admin annotate export import manage read
POST   /api/v1/projects/                                                            manage
GET    /api/v1/projects/<project>/                                                  manage read
DELETE /api/v1/projects/<project>/                                                  manage
PATCH  /api/v1/projects/<project>/                                                  manage
GET    /api/v1/projects/<project>/agreement-schedules/                              read
POST   /api/v1/projects/<project>/agreement-schedules/                              manage
GET    /api/v1/projects/<project>/agreement/                                        read
POST   /api/v1/projects/<project>/agreement/                                        manage
GET    /api/v1/projects/<project>/agreement/rule/                                   read
PUT    /api/v1/projects/<project>/agreement/rule/                                   manage
POST   /api/v1/projects/<project>/agreement/third-person/                           manage
GET    /api/v1/projects/<project>/annotations/                                      read
GET    /api/v1/projects/<project>/records/                                          read
POST   /api/v1/projects/<project>/archive/                                          manage
POST   /api/v1/projects/<project>/assignments/<assignment_id>/reassign/             manage
GET    /api/v1/projects/<project>/batches/                                          manage read
POST   /api/v1/projects/<project>/batches/                                          manage
POST   /api/v1/projects/<project>/batches/<number>/                                 manage
POST   /api/v1/projects/<project>/batches/preview/                                  manage
GET    /api/v1/projects/<project>/configuration/                                    manage read
PUT    /api/v1/projects/<project>/configuration/                                    manage
POST   /api/v1/projects/<project>/configuration/check/                              manage
POST   /api/v1/projects/<project>/copies/                                           manage
GET    /api/v1/projects/<project>/decisions/                                        read
GET    /api/v1/projects/<project>/export-schedules/                                 export
POST   /api/v1/projects/<project>/export-schedules/                                 export
GET    /api/v1/projects/<project>/exports/                                          export
POST   /api/v1/projects/<project>/exports/                                          export
POST   /api/v1/projects/<project>/exports/estimate/                                 export
GET    /api/v1/projects/<project>/imports-wait/                                     read
PUT    /api/v1/projects/<project>/imports-wait/                                     manage
GET    /api/v1/projects/<project>/imports/                                          import read
POST   /api/v1/projects/<project>/imports/                                          import
GET    /api/v1/projects/<project>/invitations/                                      manage read
POST   /api/v1/projects/<project>/invitations/                                      manage
DELETE /api/v1/projects/<project>/invitations/<invitation_id>/                      manage
POST   /api/v1/projects/<project>/next/                                             annotate
PUT    /api/v1/projects/<project>/open/                                             manage
GET    /api/v1/projects/<project>/overview/                                         read
GET    /api/v1/projects/<project>/pause/                                            manage read
POST   /api/v1/projects/<project>/pause/                                            manage
GET    /api/v1/projects/<project>/people/                                           read
POST   /api/v1/projects/<project>/people/<annotator>/steering/                      manage
PUT    /api/v1/projects/<project>/people/<name>/                                    manage
DELETE /api/v1/projects/<project>/people/<name>/                                    manage
POST   /api/v1/projects/<project>/people/<name>/give-back/                          manage
GET    /api/v1/projects/<project>/removals/<removal_id>/                            manage read
POST   /api/v1/projects/<project>/restore/                                          manage
GET    /api/v1/projects/<project>/review/                                           manage read
POST   /api/v1/projects/<project>/review/                                           manage
GET    /api/v1/projects/<project>/rules/                                            read
PUT    /api/v1/projects/<project>/rules/<rule_id>/                                  manage
DELETE /api/v1/projects/<project>/rules/<rule_id>/                                  manage
GET    /api/v1/projects/<project>/secrets/                                          import read
POST   /api/v1/projects/<project>/secrets/                                          import
GET    /api/v1/projects/<project>/skips/                                            read
GET    /api/v1/projects/<project>/sources/                                          read
POST   /api/v1/projects/<project>/sources/answers/                                  import
POST   /api/v1/projects/<project>/sources/imports/                                  import
GET    /api/v1/projects/<project>/sources/imports/<job_id>/                         import read
GET    /api/v1/projects/<project>/suggestions/                                      read
POST   /api/v1/projects/<project>/suggestions/                                      import
GET    /api/v1/projects/<project>/statistics/                                       read
POST   /api/v1/projects/<project>/statistics/                                       manage
POST   /api/v1/projects/<project>/steering/<act_id>/undo/                           manage
POST   /api/v1/projects/<project>/steering/people/                                  manage
POST   /api/v1/projects/<project>/steering/tasks/                                   manage
GET    /api/v1/projects/<project>/traces/                                           read
POST   /api/v1/projects/<project>/traces/                                           import
GET    /api/v1/projects/<project>/traces/<trace_id>/                                read
GET    /api/v1/projects/<project>/traces/<trace_id>/comparison/                     read
GET    /api/v1/projects/<project>/traces/<trace_id>/content/                        read
GET    /api/v1/projects/<project>/traces/<trace_id>/files/                          read
GET    /api/v1/projects/<project>/traces/<trace_id>/files/<index>/                  read
POST   /api/v1/projects/<project>/traces/<trace_id>/removal/                        manage
GET    /api/v1/projects/<project>/traces/<trace_id>/steps/                          read
GET    /api/v1/projects/<project>/traces/<trace_id>/steps/<index>/                  read
POST   /api/v1/projects/<project>/traces/steer/                                     manage
POST   /api/v1/projects/<project>/uploads/                                          import
GET    /api/v1/projects/<project>/uploads/part/                                     import read
PUT    /api/v1/projects/<project>/uploads/part/                                     import
DELETE /api/v1/projects/<project>/uploads/part/                                     import
GET    /api/v1/projects/<project>/versions/                                         manage read
POST   /api/v1/projects/<project>/versions/                                         manage
GET    /api/v1/projects/<project>/versions/<number>/                                manage read
GET    /api/v1/search/                                                              read
GET    /api/v1/service-accounts/                                                    admin
POST   /api/v1/service-accounts/                                                    admin
GET    /api/v1/sources/<source_id>/                                                 read
GET    /api/v1/sources/<source_id>/answers/                                         read
GET    /api/v1/sources/<source_id>/reports/                                         read
GET    /api/v1/sources/<source_id>/reports/<source_report_id>/                      read
POST   /api/v1/sources/<source_id>/reports/                                         import
POST   /api/v1/sources/<source_id>/send/                                            manage
GET    /api/v1/submissions/<submission_id>/                                         read
POST   /api/v1/submissions/<submission_id>/correct/                                 manage
GET    /api/v1/submissions/<submission_id>/decisions/                               read
POST   /api/v1/submissions/<submission_id>/decisions/                               manage
GET    /api/v1/submissions/<submission_id>/lines/                                   read
GET    /api/v1/submissions/<submission_id>/notes/                                   read
POST   /api/v1/submissions/<submission_id>/notes/                                   manage
POST   /api/v1/submissions/<submission_id>/withdraw/                                annotate
GET    /api/v1/tokens/                                                              admin
POST   /api/v1/tokens/                                                              admin
GET    /api/v1/tokens/<token_id>/                                                   admin
DELETE /api/v1/tokens/<token_id>/                                                   admin
GET    /api/v1/webhooks/                                                            admin manage read
POST   /api/v1/webhooks/                                                            admin manage
GET    /api/v1/webhooks/<endpoint_id>/                                              admin manage read
PATCH  /api/v1/webhooks/<endpoint_id>/                                              admin manage
DELETE /api/v1/webhooks/<endpoint_id>/                                              admin manage
GET    /api/v1/webhooks/<endpoint_id>/deliveries/                                   admin manage read
POST   /api/v1/webhooks/<endpoint_id>/deliveries/<delivery_id>/redeliver/           admin manage
POST   /api/v1/webhooks/<endpoint_id>/secret/                                       admin manage
POST   /api/v1/webhooks/<endpoint_id>/test/                                         admin manage
GET    /api/v1/whoami/                                                              admin annotate export import manage read
GET    /api/v1/jobs/                                                                admin
GET    /api/v1/jobs/<job_id>/                                                       admin
POST   /api/v1/jobs/<job_id>/cancel/                                                admin
GET    /api/v1/projects/<project>/gold/                                             manage read
POST   /api/v1/projects/<project>/gold/                                             manage
POST   /api/v1/projects/<project>/gold/plant/                                       manage
GET    /api/v1/projects/<project>/gold/scores/                                      manage read
GET    /api/v1/projects/<project>/gold/people/                                      manage read
POST   /api/v1/projects/<project>/gold/people/<name>/                               manage
PUT    /api/v1/projects/<project>/gold/<expected_id>/                               manage
POST   /api/v1/projects/<project>/gold/<expected_id>/retire/                        manage
GET    /api/v1/projects/<project>/questions/                                        read
POST   /api/v1/questions/<question_id>/answer/                                      manage
POST   /api/v1/assignments/<assignment_id>/questions/                               annotate
POST   /api/v1/submissions/<submission_id>/hold/                                    manage
GET    /api/v1/projects/<project>/adjudication/                                     annotate read
POST   /api/v1/projects/<project>/adjudication/                                     annotate
GET    /api/v1/projects/<project>/adjudications/                                    read
GET    /api/v1/projects/<project>/adjudication/sides/                               read
GET    /api/v1/adjudication/<assignment_id>/                                        annotate read
PUT    /api/v1/adjudication/<assignment_id>/                                        annotate
POST   /api/v1/adjudication/<assignment_id>/submit/                                 annotate
POST   /api/v1/adjudication/<assignment_id>/later/                                  annotate
POST   /api/v1/adjudications/<adjudication_id>/undo/                                annotate
GET    /api/v1/projects/<project>/feedback/                                         annotate read
"""  # noqa: E501 - a table is read across


def read_table(text: str) -> dict[tuple[str, str], frozenset[str]]:
    """The scopes of each method and address."""
    lines = (line.split() for line in text.splitlines() if line.strip())
    return {(method, address): frozenset(scopes) for method, address, *scopes in lines}


SCOPES = read_table(TABLE)
