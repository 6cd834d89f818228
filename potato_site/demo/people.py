"""The six people whose work the demo shows: how carefully each judges, how long it takes, and when they work."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Person:
    """`care` is the share of flaws that the person sees, and `drift` how often a category, a severity, a step or a
    rating is another than the planted one. `alarm` is how often something right is called wrong. `minutes` is what a
    review takes on average; steps take a third of it. `starts` is the hour of the day, `tasks` how many on a usual
    day, and `saturdays` says who works then, too."""

    username: str
    name: str
    care: float
    drift: float
    alarm: float
    minutes: float
    starts: int
    tasks: int
    saturdays: bool = False

    @property
    def signs_in(self) -> bool:
        return self.username in ("annotator", "annotator2")


PEOPLE = (
    Person("annotator", "reviewer_01", care=0.95, drift=0.08, alarm=0.03, minutes=12, starts=9, tasks=3),
    Person("annotator2", "reviewer_02", care=0.92, drift=0.10, alarm=0.04, minutes=13, starts=8, tasks=3),
    Person(
        "annotator3", "reviewer_03", care=0.90, drift=0.12, alarm=0.05, minutes=15, starts=10, tasks=3, saturdays=True
    ),
    Person("annotator4", "reviewer_04", care=0.85, drift=0.18, alarm=0.08, minutes=10, starts=13, tasks=3),
    # Fast, and often of another opinion than all others.
    Person(
        "annotator5", "reviewer_05", care=0.12, drift=0.60, alarm=0.45, minutes=2.5, starts=16, tasks=4, saturdays=True
    ),
    Person("annotator6", "reviewer_06", care=0.80, drift=0.20, alarm=0.06, minutes=14, starts=9, tasks=2),
)

# Who wrote the known answers: sees what is there, and nothing else.
EXPERT = Person("expert", "expert_01", care=1.0, drift=0.0, alarm=0.0, minutes=0, starts=0, tasks=0)

# Two programs that judge the same runs: one sees little and alarms often, one is nearly as good as people.
JUDGE = Person("judge", "review-judge", care=0.75, drift=0.2, alarm=0.3, minutes=0, starts=0, tasks=0)
REWARD_MODEL = Person("reward_model", "step-reward", care=0.85, drift=0.12, alarm=0.1, minutes=0, starts=0, tasks=0)
