/// The devices that can serve a request, and the order in which they are tried.
///
/// Devices are places in RoutePolicy::servers. Thread-safety: pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/route_policy.h"

namespace layard::gateway {

/// What a request needs of its device.
struct RequestNeeds {
  std::string model = {};  ///< as the client said it; may be empty
  bool tools = false;
  bool images = false;
  std::int64_t prompt_tokens = 0;  ///< an estimate; 0: not known
};

/// Why a device cannot serve a request.
enum class DeviceGap : std::uint8_t {
  kNone,  ///< it can
  kOtherModel,
  kLacksTools,
  kLacksImages,
  kContextTooShort,
};

/// A few words for people: `serves another model`, `lacks tools`, ...; empty for kNone.
std::string_view device_gap_text(DeviceGap gap);

/// What the name of a model meant. The first that fits counts.
enum class ModelMatch : std::uint8_t {
  kDevice,    ///< a device's name: that device alone
  kByClass,   ///< empty, `auto`, or one of model_names: all devices
  kModel,     ///< the `model` of devices: those
  kWildcard,  ///< model_names has `*`: all devices
  kPassedOn,  ///< any other: the devices without a `model`, which are sent the name as it is
  kUnknown,   ///< there are none of those
};

struct DeviceCandidates {
  ModelMatch match = ModelMatch::kUnknown;
  /// Those that can serve the request, in the order of the file.
  std::vector<std::size_t> devices;
  /// Of every device, in the order of the file.
  std::vector<DeviceGap> gaps;
  /// For kDevice: it is tried alone.
  std::optional<std::size_t> override_device;
};

/// Sorts the devices by whether they can serve a request. A device with an empty list of
/// capabilities, or without `context_tokens`, is taken to lack nothing of that; one with a list
/// must have `tools` and `images` in it where they are needed. A prompt fits a context that is
/// longer than it. A gap tells the first thing that is missing, in the order of DeviceGap.
DeviceCandidates find_candidates(const RoutePolicy& policy, const RequestNeeds& needs);

/// The names a client may use: model_names without `*`, devices, and their models, each once.
std::vector<std::string> known_models(const RoutePolicy& policy);

struct DeviceOrder {
  /// Each at most once; empty only without candidates, or when the override is none.
  std::vector<std::size_t> devices;
  bool overridden = false;
  /// Which rule named the first, and why not the row; of an override kNone.
  DeviceRule rule = DeviceRule::kNone;
  RowUse row = RowUse::kUsed;
};

/// The order for a request of `class_name`: `override_device` alone if there is one; else, where
/// `confidence` reaches min_confidence, the device of the class's row and, in a file with
/// `version`, its alternates; then the default; then the other candidates. The first is that of
/// choose_device().
/// Bounds: `candidates` and `override_device` are places in policy.servers.
DeviceOrder order_devices(const RoutePolicy& policy, std::span<const std::size_t> candidates,
                          std::optional<std::size_t> override_device, std::string_view class_name,
                          double confidence);

}  // namespace layard::gateway
