"""Live systems, asked over HTTP.

``http.py``, ``elasticsearch.py``, ``solr.py`` and ``vespa.py`` make the request of each system (``exchange.py``) and
call ``fetching.fetch_over_http``. It fills in the placeholders of each query, sends requests by ``client.py``, keeps
answers in ``recording.py``, and asks for the facts of the index (``index.py``) before and after.
"""
