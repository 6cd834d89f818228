"""Routes of gold and practice, under p/<project>/."""

from django.urls import path

from gold import views

urlpatterns = [
    path("gold/", views.gold, name="gold"),
    path("gold/make/", views.make, name="gold-make"),
    path("gold/plant/", views.plant, name="gold-plant"),
    path("gold/import/", views.import_expected, name="gold-import"),
    path("gold/<uuid:expected_id>/", views.expectation, name="gold-expected"),
    path("gold/<uuid:expected_id>/retire/", views.retire_expected, name="gold-retire"),
    path("gold/people/<str:name>/", views.person, name="gold-person"),
    path("tasks/<uuid:assignment_id>/practice/", views.practice_feedback, name="practice-feedback"),
]
