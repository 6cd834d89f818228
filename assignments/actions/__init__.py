"""What can be done to assignments: one function a verb, each one transaction. Claims, heartbeats and drafts are no
decisions and leave no audit events; skipping, submitting and withdrawing do.
"""
