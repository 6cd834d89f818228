"""What the audit trail says of practice, gold and disagreements."""

GOLD = {
    "gold.made": ("made the answer to {trace} of {project} known", "target"),
    "gold.changed": ("changed the known answer to {trace} of {project}", "pencil"),
    "gold.retired": ("retired the known answer to {trace} of {project}", "archive"),
    "gold.planted": ("had faults planted in {traces} traces of {project}", "bug"),
    "practice.admitted": ("let {target} begin in {project} without the practice", "user-plus"),
}
BY_ITSELF = {
    "gold.paused": ("=Somebody was paused in {project} by tasks with a known answer: {why}", "pause"),
    "gold.warned": ("=Tasks with a known answer warn of somebody in {project}: {why}", "triangle-alert"),
    "trace.annotator-added": ("=One annotator more was asked of {trace} of {target}: {why}", "user-plus"),
}
