"""Export formats, one module each, found by the entry-point group `potato.export_formats`.

Pure: records, what their traces say of them, and options go in; bytes come out, a row at a time.
"""
