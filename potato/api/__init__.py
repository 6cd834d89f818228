"""What the API's routes take and answer, as models: the site makes them, and the client reads them."""
