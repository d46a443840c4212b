-- What a drain must know of schedules, as JSON: the stored revision of the worker's group, schedules that are due, at
-- most 20 of those that any worker fires and of those whose payload only its group knows, and when the next one is.
-- Null if there are none, and the worker has no group. Where there are none, no row is read: with a range, its end
-- would be.
(
  select json_object(
    'group', json((
      select json_object('revision', revision, 'fingerprint', fingerprint)
      from wadi_schedule_groups where group_name = :schedule_group
    )),
    'next_at_ms', (
      select min(next_at_ms) from (
        select * from (
          select next_at_ms from wadi_schedules
          where paused_at_ms is null and not (next_at_ms is null) and dynamic = 0
            and next_at_ms > (select ms from now)
          order by next_at_ms limit 1
        )
        union all
        select * from (
          select next_at_ms from wadi_schedules
          where paused_at_ms is null and not (next_at_ms is null) and dynamic = 1 and +group_name = :schedule_group
            and next_at_ms > (select ms from now)
          order by next_at_ms limit 1
        )
      )
    ),
    'due', json((
      select json_group_array(json_object(
        'group', group_name, 'name', name, 'at_ms', next_at_ms, 'from_ms', from_ms, 'last_slot_ms', last_slot_ms,
        'timing', json(timing), 'policy', json(policy), 'overlap', overlap, 'dynamic', dynamic,
        'limits', json(task->'limits')
      ))
      from (
        select * from (
          select * from wadi_schedules
          where paused_at_ms is null and not (next_at_ms is null) and dynamic = 0
            and next_at_ms <= (select ms from now)
          order by next_at_ms limit 20
        )
        union all
        select * from (
          select * from wadi_schedules
          where paused_at_ms is null and not (next_at_ms is null) and dynamic = 1 and +group_name = :schedule_group
            and next_at_ms <= (select ms from now)
          order by next_at_ms limit 20
        )
      )
    ))
  )
  where :schedule_group is not null
    or (
      select next_at_ms from wadi_schedules
      where paused_at_ms is null and not (next_at_ms is null) and dynamic = 0
      order by next_at_ms limit 1
    ) is not null
)
