"""The task page: one annotator, one trace, in tabs, under the configuration that the assignment pins."""
