"""What a run leaves and shows: its record, progress, summary, report, and artifacts.

The charts of report.html are SVG that smspec writes: matplotlib takes 770 ms to import, and a page of plotly has
4.8 MB.
"""
