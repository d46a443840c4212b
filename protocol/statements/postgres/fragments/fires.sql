-- Whether a schedule fires for an item: neither was the slot fired before, as its key says, nor is it to be skipped.
-- @param item its JSON
(
  @is_slot(@item) and not coalesce(@has_failed_out(), false)
  and not (schedule.overlap = 'skip' and coalesce(@last_status(), '') in ('queued', 'running'))
  and not exists (select 1 from cairnq_task_keys where key = @item->>'key')
)
