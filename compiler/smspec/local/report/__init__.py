"""The report of a finished run: report.html.

Its charts are SVG that smspec writes: matplotlib takes 770 ms to import, and a page by plotly has 4.8 MB.
"""
