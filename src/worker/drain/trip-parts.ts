import type { CycleComposer } from "./cycle-composer.ts";
import type { DrainParts } from "./drain-parts.ts";
import type { RoundTrips } from "./round-trips.ts";

/** The parts of a drain that decide when its round trips are due, or send them. */
export interface TripParts extends DrainParts {
  readonly cycles: CycleComposer;
  readonly trips: RoundTrips;
}
