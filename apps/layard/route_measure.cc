#include "route_measure.h"

#include <cmath>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "gateway/measure_targets.h"
#include "gateway/policy_text.h"
#include "input.h"
#include "layard/evaluation.h"
#include "progress.h"
#include "table.h"

namespace layard::cli {
namespace {

struct MeasureOptions {
  std::string policy;
  std::string cases;
  std::string out;
  std::vector<std::string> devices;
  std::vector<std::string> resident;
  std::vector<std::string> max_tokens;
  gateway::MeasurePlanOptions plan;
  int rounds = 3;
  double drift_max = 3;
  std::int64_t seed = 1;
  std::int64_t timeout_s = 600;
  std::string profile;
  std::string model_sha256;
};

Error refused(const std::string& what) { return {ErrorCode::kInvalidRequest, what}; }

// `NAME=VALUE`; the name is empty where there is no `=`.
std::pair<std::string, std::string> split(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos) return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

Result<std::int64_t> token_count(const std::string& text) {
  std::int64_t out = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || out > gateway::kMeasureTokensMax) out = -1;
    if (out < 0) break;
    out = 10 * out + (c - '0');
  }
  if (text.empty() || out < 0) {
    return refused("--max-tokens must be N or CLASS=N, found '" + text + "'");
  }
  return out;
}

Status read_max_tokens(const MeasureOptions& options, gateway::MeasurePlanOptions& plan) {
  for (const std::string& text : options.max_tokens) {
    const auto [name, value] = split(text);
    LAYARD_ASSIGN(const std::int64_t tokens, token_count(value));
    (name.empty() ? plan.max_tokens : plan.class_max_tokens[name]) = tokens;
  }
  return {};
}

Result<gateway::TargetChoice> read_choice(const MeasureOptions& options) {
  gateway::TargetChoice out;
  out.devices = options.devices;
  for (const std::string& text : options.resident) {
    const auto [name, value] = split(text);
    if (name.empty()) return refused("--resident must be DEVICE=SIZE, found '" + text + "'");
    LAYARD_ASSIGN(out.resident_bytes[name], gateway::resident_size(value));
  }
  return out;
}

Result<gateway::MeasureSettings> read_settings(const MeasureOptions& options) {
  gateway::MeasureSettings out;
  LAYARD_ASSIGN(const std::string policy_text, read_file(options.policy, gateway::kPolicyBytesMax));
  LAYARD_ASSIGN(const auto policy, gateway::RoutePolicy::parse(policy_text, options.policy));
  LAYARD_ASSIGN(const auto choice, read_choice(options));
  LAYARD_ASSIGN(out.targets, gateway::measure_targets(policy, choice));
  LAYARD_ASSIGN(const std::string text, read_file(options.cases, gateway::kCasesBytesMax));
  auto cases = gateway::parse_route_cases(text, policy.classes());
  if (!cases.ok()) return refused("'" + options.cases + "': " + cases.error().message);
  gateway::MeasurePlanOptions plan = options.plan;
  LAYARD_TRY(read_max_tokens(options, plan));
  LAYARD_ASSIGN(out.plan, gateway::plan_measurement(*cases, plan));
  if (!(options.drift_max >= 0 && options.drift_max <= 1000)) {
    return refused("--drift-max must be from 0 to 1000 percent");
  }
  if (options.timeout_s < 1 || options.timeout_s > 86400) {
    return refused("--timeout-s must be from 1 to 86400");
  }
  out.rounds = options.rounds;
  out.drift_max = options.drift_max / 100;
  out.seed = options.seed;
  out.request_ms = options.timeout_s * 1000;
  return out;
}

Result<gateway::MeasuredEvidence> measure(const MeasureOptions& options) {
  LAYARD_TRY(check_report_path(options.out));
  if (!options.model_sha256.empty()) LAYARD_TRY(gateway::check_model_hash(options.model_sha256));
  LAYARD_ASSIGN(const gateway::MeasureSettings settings, read_settings(options));
  std::optional<Progress> bar;  // one a round, gone before the round's line is printed
  const auto progress = [&](int round, std::size_t done, std::size_t total) {
    if (!bar) bar.emplace("route measure, round " + std::to_string(round));
    bar->update(done, total);
  };
  const auto round_end = [&](int round, double drift, bool kept) {
    bar.reset();
    std::cerr << "round " << round << ": the control drifted " << std::round(1000 * drift) / 10
              << " %, " << (kept ? "kept" : "discarded") << "\n";
  };
  LAYARD_ASSIGN(auto evidence, gateway::run_measurement(settings, progress, round_end));
  evidence.profile = options.profile.empty() ? gateway::machine_profile() : options.profile;
  evidence.date = gateway::date_today();
  evidence.model_sha256 = options.model_sha256;
  return evidence;
}

int run_measure(const MeasureOptions& options) {
  const auto evidence = measure(options);
  if (!evidence.ok()) return report(evidence.error());
  const Status written = write_report(options.out, gateway::write_evidence(*evidence));
  if (!written.ok()) return report(written.error());
  const auto made = evidence->requests.empty() ? 0 : evidence->requests.back().round;
  const auto kept = made - static_cast<int>(evidence->discarded.size());
  std::cout << printable(options.out) << ": " << evidence->requests.size() << " requests, " << kept
            << " rounds kept, " << evidence->discarded.size() << " discarded\n";
  if (kept >= options.rounds) return kExitOk;
  std::cerr << "check failed: fewer rounds than --rounds were kept: the machine is not quiet, or "
               "--drift-max is too low\n";
  return kExitCheckFailed;
}

void add_what(CLI::App& command, MeasureOptions& options) {
  command.add_option("--policy", options.policy, "Policy with the devices' URLs and keys")
      ->type_name(kFileType)
      ->required();
  command
      .add_option("--devices", options.devices,
                  "Devices of the policy, the first one being what others are compared with "
                  "(default: all with a url)")
      ->delimiter(',');
  command
      .add_option("--cases", options.cases,
                  "{\"cases\": [{\"class\", \"text\"}]}, or JSON Lines of such cases")
      ->type_name(kFileType)
      ->required();
  command.add_option("--out", options.out, "The evidence: JSON, without the texts")
      ->type_name(kFileType)
      ->required();
  command
      .add_option("--resident", options.resident,
                  "DEVICE=SIZE: memory of a copy of the model that only this device needs")
      ->delimiter(',');
  command.add_option("--profile", options.profile, "This machine (default: processor, threads)");
  command.add_option("--model-sha256", options.model_sha256, "The model that the devices serve");
}

void add_how(CLI::App& command, MeasureOptions& options) {
  command.add_option("--rounds", options.rounds, "Rounds to keep; at most twice as many are made")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command.add_option("--per-class", options.plan.per_class, "Cases of each class")
      ->type_name("INT")
      ->capture_default_str();
  command
      .add_option("--max-tokens", options.max_tokens,
                  "Of a reply: N, or CLASS=N,CLASS=N (default: 256)")
      ->delimiter(',');
  command
      .add_option("--prompt-lengths", options.plan.prompt_lengths,
                  "Prompts of so many tokens with one token of reply, for the speed of reading")
      ->delimiter(',')
      ->type_name("INT,...")
      ->capture_default_str();
  command
      .add_option(
          "--drift-max", options.drift_max,
          "A round whose control takes so many percent more or less at its end is discarded")
      ->type_name("FLOAT")
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Of the replies")
      ->type_name("INT")
      ->capture_default_str();
  command.add_option("--timeout-s", options.timeout_s, "For one request")
      ->type_name("INT")
      ->capture_default_str();
}

}  // namespace

void add_route_measure(CLI::App& route, Run& run) {
  CLI::App* command = route.add_subcommand(
      "measure", "How fast devices serve each class of request: evidence for `route derive`");
  command->footer(
      "Example:\n"
      "  layard route measure --policy policy.json --devices gpu0,gpu1 --cases cases.jsonl \\\n"
      "      --max-tokens short=32,code=256,prose=256 --out evidence.json\n\n"
      "Exit status 1: fewer rounds than --rounds were kept. The file is written then too.");
  auto options = std::make_shared<MeasureOptions>();
  add_what(*command, *options);
  add_how(*command, *options);
  command->callback([&run, options] { run = [options] { return run_measure(*options); }; });
}

}  // namespace layard::cli
