"""Files of runs become stored traces: the upload, the job that reads it, the rows, and the pictures in it."""
