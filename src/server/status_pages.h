/// What a server says about itself: models, health, readiness.
///
/// Source: typesafe-sdk 0.7.5 (`models`), laya-apple 1.7.0 serve (health and models, members and
/// their order). Departs: OpenAI's list stands beside `models`; health has `checkpoints` in the
/// place of `ane`. Thread-safety: pure functions.
#pragma once

#include <span>
#include <string>

#include "layard/service.h"

namespace layard::server {

/// What does not change while a server runs.
struct ServerFacts {
  std::string default_model;  // as the operator named it; `auto` too
  std::string device;
};

/// `{"models": [...], "object": "list", "data": [...]}`: `auto` first where it is the default.
std::string models_json(const ServerFacts& facts, std::span<const ServedModel> models);

/// `{"status": "ok", "version", "default_model", "loaded", "device", "checkpoints"}`; without trust
/// only the status.
std::string health_json(const ServerFacts& facts, std::span<const ServedModel> models,
                        bool is_trusted);

/// `{"status": "ready" | "not ready", "checkpoints": {name: state}}` of those that are preloaded;
/// without trust only the status.
std::string ready_json(std::span<const ServedModel> models, bool is_ready, bool is_trusted);

}  // namespace layard::server
