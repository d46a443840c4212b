-- Whether a worker may store its definitions of a group: they differ from what is stored, which is of no newer
-- revision.
not exists (
  select 1 from wadi_schedule_groups
  where group_name = :schedule_group::text
    and (revision > :revision::bigint or fingerprint = :fingerprint::text)
)
