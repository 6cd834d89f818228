"""Figures and plots of process rewards."""
