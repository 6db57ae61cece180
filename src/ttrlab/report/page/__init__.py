"""The page of a study: a static folder that opens from disk, without a server and without a network.

``chunks`` writes data as scripts; ``overview`` and ``pair`` turn tables into data; ``samples`` and ``book`` turn stored roll-outs and
decisions into what the question viewer shows; ``build`` writes the folder. What a browser runs lies in ``static/``.
"""
