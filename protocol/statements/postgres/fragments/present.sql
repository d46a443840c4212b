-- The present time: the database's clock, or what a test gives in its place.
coalesce(:now_ms::bigint, @clock())
