from django.apps import AppConfig


class RewardsConfig(AppConfig):
    name = "rewards"

    def ready(self) -> None:
        from accounts import attention
        from assignments import scheme_pages
        from jobs import kinds, sweeps
        from rewards.attention import failed_statistics
        from rewards.project_page import STATISTICS
        from rewards.statistics import ComputeRewardStatistics, request_old_statistics

        kinds.register(ComputeRewardStatistics())
        sweeps.register(
            sweeps.Sweep("rewards.statistics", "rewards_organisations_with_old_statistics", request_old_statistics)
        )
        scheme_pages.register(
            scheme_pages.SchemePages(
                "rewards", sections=(STATISTICS,), project_urls="rewards.urls", api_urls="rewards.api"
            )
        )
        attention.register("rewards.failed", failed_statistics)
