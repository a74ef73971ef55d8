/// Many event streams at once, and what happens to their events on the way.
#pragma once

#include <string>
#include <vector>

#include "request_text.h"

namespace layard::bench {

struct StreamLoad {
  std::string url;  ///< where the streams are opened
  int streams = 1000;
  double seconds = 10;                       ///< measured, after every stream had its first event
  int opening_max = 64;                      ///< streams that wait for their first event at once
  int conversations = 1;                     ///< different first messages among the streams
  std::vector<int> pids = {};                ///< processes whose processor time is reported
  std::vector<std::string> probe_urls = {};  ///< direct, proxied: requests beside the streams
  double probes_per_s = 100;
  RequestForm form = {};
};

/// Runs the load on one thread and returns one JSON object:
/// `events`, `bytes`, `latency` (receipt - the time in the event), `merged_events` (came in one
/// read behind an older event of their stream) and their `held_back_bytes`, `late_events` (more
/// than 5 ms), `lost_events` and `repeated_events` by their numbers, `comments`, `ended` streams,
/// `cpu` of each process and per event, `probes` as PairedTimes.
/// A stream that breaks or is refused ends the program.
std::string run_stream_load(const StreamLoad& load);

}  // namespace layard::bench
