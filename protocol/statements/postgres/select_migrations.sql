-- Lists the migrations of Wadi that are applied. It fails on a database that has never been migrated.
-- @returns name
select name
from wadi_migrations
