/// What the gateway says of one decision: the response's fields, and a line of the decision log.
/// Thread-safety: plain values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/request_class.h"
#include "gateway/sticky_table.h"

namespace layard::gateway {

/// What was decided for one request.
struct Decision {
  /// Empty: nothing was decided, as a device was named, all serve it alike, or there was no text.
  std::string class_name;
  double confidence = 0;
  std::vector<std::pair<std::string, double>> probabilities;
  DecisionSource source = DecisionSource::kDefault;
  /// From the request's last byte to the choice of a device.
  double decision_ms = 0;
  /// Of that, in the queue of the model.
  double queue_ms = 0;
};

/// `code 0.44 vulkan`; a class that was not decided is `-`, its confidence 0.00, and a device that
/// was not chosen is `-`.
std::string route_field(const Decision& decision, std::string_view device);

/// How the request of a decision ended. Counts are -1 where nobody said them.
struct ServedRequest {
  std::string device;   ///< the one that replied last; empty: none
  int status = 0;       ///< what the client got; 0: nothing
  double ttft_ms = -1;  ///< from the request to the first token, or the first byte of the body
  double total_ms = 0;
  double wait_ms = 0;  ///< for room on the device
  std::int64_t prompt_tokens = -1;
  std::int64_t cached_tokens = -1;
  std::int64_t completion_tokens = -1;
  double decode_tps = -1;  ///< tokens a second after the first
  bool cancelled = false;  ///< the client left
  bool overflow = false;   ///< another device than the policy's first
};

/// One line of the decision log.
struct DecisionRecord {
  std::int64_t time_ms = 0;  ///< since 1970
  std::string request_id;
  std::string conversation;  ///< the keyed hash, in hex; empty: no conversation
  std::string caller;        ///< the name of the key; may be empty
  std::string api;
  std::string model_requested;
  std::string model_sent;
  std::string model_reported;  ///< by the device
  std::string checkpoint;
  std::string policy_hash;
  std::vector<std::string> candidates;
  std::int64_t chars = 0;  ///< of the classified text, uncut
  std::int64_t tokens = -1;
  std::string text;  ///< only where the operator asked for it
  Decision decision;
  ServedRequest served;
};

/// One JSON object without a line end. The first fields are those of spec D.1, in its order;
/// counts that nobody said are null.
std::string decision_line(const DecisionRecord& record);

}  // namespace layard::gateway
