-- Takes the lock that the migrators of the reference SDKs hold while they apply a migration.
-- It must come before all that touches their tables: in another order the two deadlock.
-- @only postgres: an SQLite database is locked as a whole
-- @returns nothing
lock table cairnq_migrations in exclusive mode
