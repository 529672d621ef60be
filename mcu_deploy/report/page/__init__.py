"""The report as a page: one file of HTML; and the same pictures for a notebook."""
