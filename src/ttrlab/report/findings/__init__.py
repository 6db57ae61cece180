"""Parts of a page about finished studies, as Markdown: every number and every verdict comes from tables, none is written by hand."""
