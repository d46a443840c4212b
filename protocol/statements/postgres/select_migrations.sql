-- Lists the migrations of Wadi's own that are applied.
-- @returns name
select name
from wadi_migrations
