"""The files of a repository at its commits, out of a git bundle or an archive: read in memory, with bounds."""
