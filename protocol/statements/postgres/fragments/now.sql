-- The table `now`, whose one row holds the present time in `ms`.
now as materialized (select @present() as ms)
