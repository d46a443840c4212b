-- The table `now`, whose one row holds the present time in `ms`.
now(ms) as not materialized (select @present())
