"""The demo organisation: its projects, the runs that are judged there, and six people's work of three weeks."""
