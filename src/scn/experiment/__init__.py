"""From what a person asks for to trained and compared runs: plans, tasks, trainings and comparisons."""
