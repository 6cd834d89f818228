"""What fires by itself: kinds of schedules, the firing of what is due, and what people do to schedules."""
