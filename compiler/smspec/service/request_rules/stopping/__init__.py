"""StoppingCondition and managed spot training."""
