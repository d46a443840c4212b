-- The present time: the database's clock, or what a test gives in its place.
coalesce(cast(:now_ms as integer), @clock())
