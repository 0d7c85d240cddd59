"""The page about a run that is over: report.html."""
