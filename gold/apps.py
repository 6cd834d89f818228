from django.apps import AppConfig


class GoldConfig(AppConfig):
    name = "gold"

    def ready(self) -> None:
        from accounts import attention, project_pages
        from assignments import known_answers, mixing
        from assignments.events import DECISION_MADE
        from assignments.reading import parts
        from gold import audit_sentences, claims, disagreement, practice, standing
        from gold.actions import EXPECTATION_CHANGED
        from gold.attention import (
            broken_gold,
            gold_without_suggestions,
            people_by_their_scores,
            planted_without_reports,
            traces_without_anybody,
        )
        from gold.known_answers import known_answers_of_person
        from gold.planting import PLANTING, PlantFaults
        from gold.reading import make_known
        from gold.trace_use import USERS
        from jobs import kinds, outbox
        from jobs import sentences as jobs_in_words
        from tenancy import sentences
        from tenancy.roles import Right
        from traces import uses

        mixing.register(mixing.Mixing(claims.give, claims.to_come, practice.practice_submitted))
        known_answers.register(known_answers_of_person)
        for topic in ("submission.made", "submission.withdrawn", DECISION_MADE):
            outbox.subscribe(topic, standing.submission_changed)
        outbox.subscribe(EXPECTATION_CHANGED, standing.expectation_changed)
        outbox.subscribe("submission.made", disagreement.submission_made)
        sentences.register("Gold", audit_sentences.GOLD)
        sentences.register("Gold", audit_sentences.BY_ITSELF, changes=False)
        uses.register("gold", USERS)
        kinds.register(PlantFaults())
        jobs_in_words.register(PlantFaults.name, **PLANTING)
        parts.register("gold", parts.ReadPart("gold/partials/make_known.html", make_known))
        attention.register("gold.people", people_by_their_scores, Right.MANAGE_PROJECTS)
        attention.register("gold.broken", broken_gold, Right.MANAGE_PROJECTS)
        attention.register("gold.suggestions", gold_without_suggestions, Right.MANAGE_PROJECTS)
        attention.register("gold.reports", planted_without_reports, Right.MANAGE_PROJECTS)
        attention.register("gold.nobody", traces_without_anybody, Right.MANAGE_PROJECTS)
        project_pages.register(
            project_pages.ProjectTab("gold", "Gold", 45, Right.MANAGE_PROJECTS, project_pages.under("gold"))
        )
