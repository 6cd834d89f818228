"""The files that a run changed: patches read, recorded edits replayed, differences of whole texts. Shows nothing."""
