#include "server/asked.h"

#include <memory>
#include <utility>

#include "base/checks.h"
#include "server/decisions.h"
#include "server/systemone.h"

namespace layard::server {
namespace {

using base::JsonValue;
using Answers = std::vector<ServiceAnswer>;

OrFault<Request> read_request(std::string_view json) {
  CodecOptions codec;
  codec.missing_instructions = true;  // the published schema has them optional
  auto request = parse_request(json, codec);
  if (!request.ok()) return fault_of(request.error(), {});
  return *std::move(request);
}

ServiceRequest service_request(Request request, const AskDefaults& defaults) {
  ServiceRequest out;
  out.request = std::move(request);
  out.options.overflow = defaults.overflow;
  return out;
}

OrFault<Asked> read_systemone(const JsonValue& value, std::string_view body,
                              const AskDefaults& defaults, const KnownModels& models) {
  auto controls = check_systemone(value, defaults.limits, models);
  if (auto* fault = std::get_if<Fault>(&controls)) return *std::move(fault);
  // From the text itself: a number that no double holds is read as it was written.
  auto request = read_request(body);
  if (auto* fault = std::get_if<Fault>(&request)) return *std::move(fault);
  Asked asked;
  asked.requests.push_back(service_request(std::get<Request>(std::move(request)), defaults));
  asked.render = [wanted = std::get<Controls>(std::move(controls)),
                  strict = defaults.jev_strict](Answers answers) mutable {
    wanted.jev_strict = wanted.jev_strict || strict;
    return systemone_json(std::move(answers.front()), wanted);
  };
  return asked;
}

// One state's request as the others': questions, policy and model are the same.
OrFault<Request> request_without_states(JsonValue body) {
  body.erase("states");
  body.erase("context");
  body.set("state", JsonValue::string("state"));
  return read_request(base::write_json(body, base::JsonStyle::kCompact));
}

OrFault<Asked> read_batch(JsonValue value, const AskDefaults& defaults, const KnownModels& models) {
  auto controls = check_batch(value, defaults.limits, models);
  if (auto* fault = std::get_if<Fault>(&controls)) return *std::move(fault);
  const JsonValue states = *value.find("states");
  auto common = request_without_states(std::move(value));
  if (auto* fault = std::get_if<Fault>(&common)) return *std::move(fault);
  Asked asked;
  for (const JsonValue& state : states.items()) {
    Request request = std::get<Request>(common);
    request.state = state_of(state);
    asked.requests.push_back(service_request(std::move(request), defaults));
  }
  asked.render = [wanted = std::get<Controls>(std::move(controls)),
                  strict = defaults.jev_strict](Answers answers) mutable {
    wanted.jev_strict = wanted.jev_strict || strict;
    return batch_json(std::move(answers), wanted);
  };
  return asked;
}

OrFault<Asked> read_decisions_body(const JsonValue& value, const AskDefaults& defaults,
                                   const KnownModels& models, std::string_view request_id) {
  auto decisions = read_decisions(value);
  if (auto* fault = std::get_if<Fault>(&decisions)) return *std::move(fault);
  auto known = std::make_shared<AskedDecisions>(std::get<AskedDecisions>(std::move(decisions)));
  auto controls = check_systemone(known->body, defaults.limits, models);
  if (auto* fault = std::get_if<Fault>(&controls)) return *std::move(fault);
  const State state = state_of(*known->body.find("state"));
  known->body.set("state", JsonValue::string("state"));
  auto request = read_request(base::write_json(known->body, base::JsonStyle::kCompact));
  if (auto* fault = std::get_if<Fault>(&request)) return *std::move(fault);
  std::get<Request>(request).state = state;
  Asked asked;
  asked.requests.push_back(service_request(std::get<Request>(std::move(request)), defaults));
  known->body = JsonValue::null();  // only names and labels are needed from here on
  auto wanted = std::get<Controls>(std::move(controls));
  wanted.jev_strict = false;  // a form of the other endpoint
  asked.render = [known, wanted, id = std::string(request_id)](Answers answers) {
    return decisions_json(std::move(answers.front()), *known, wanted, id);
  };
  return asked;
}

}  // namespace

State state_of(const JsonValue& value) {
  if (value.is_string()) return {value.text(), false, false};
  return {base::write_json(value, base::JsonStyle::kPython), value.is_array(), true};
}

OrFault<Asked> read_asked(Endpoint endpoint, std::string_view body, const AskDefaults& defaults,
                          const KnownModels& models, std::string_view request_id) {
  auto parsed = parse_body(body);
  if (auto* fault = std::get_if<Fault>(&parsed)) return *std::move(fault);
  auto& value = std::get<JsonValue>(parsed);
  switch (endpoint) {
    case Endpoint::kSystemOne:
      return read_systemone(value, body, defaults, models);
    case Endpoint::kBatch:
      return read_batch(std::move(value), defaults, models);
    default:
      LAYARD_CHECK(endpoint == Endpoint::kDecisions);
      return read_decisions_body(value, defaults, models, request_id);
  }
}

}  // namespace layard::server
