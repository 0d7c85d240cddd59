"""The report of a finished run: report.html."""
