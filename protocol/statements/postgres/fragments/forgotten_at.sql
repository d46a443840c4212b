-- Until when a key's limits must have been named last to be forgotten: :older_than_ms ago, an hour at least.
((select ms from now) - greatest(:older_than_ms::bigint, 3600000))
