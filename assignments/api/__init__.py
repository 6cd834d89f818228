"""The API of an annotator's work, for the task page and for programs: one set of routes at two addresses."""
