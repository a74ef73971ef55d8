#include <iostream>
#include <memory>

#include "gateway/derive_print.h"
#include "gateway/derive_write.h"
#include "gateway/measure_targets.h"
#include "input.h"
#include "layard/evaluation.h"
#include "route_check.h"
#include "route_measure.h"
#include "table.h"

namespace layard::cli {
namespace {

struct Options {
  std::string evidence;
  std::string log;
  std::string confusion;
  std::string base;
  std::string out;
  std::string memory_budget;
  std::string format = "table";
  gateway::DeriveOptions derive;
};

struct Derived {
  gateway::Derivation derivation;
  std::string policy;
  std::string log_faults;
};

Error refused(const std::string& what) { return {ErrorCode::kInvalidRequest, what}; }

Status check_options(const Options& options) {
  const auto is_good = [](const std::optional<double>& value, double low) {
    return !value || (*value >= low && *value <= 1e9);
  };
  if (!is_good(options.derive.decision_ms, 0)) {
    return refused("--decision-ms must be from 0 to 1000000000");
  }
  if (!is_good(options.derive.turns, 1)) return refused("--turns must be from 1 to 1000000000");
  if (!is_good(options.derive.ms_per_gb, 0)) {
    return refused("--ms-per-gb must be from 0 to 1000000000");
  }
  if (options.derive.ms_per_gb.has_value() != !options.memory_budget.empty()) {
    return refused("--memory-budget and --ms-per-gb go together");
  }
  return check_report_path(options.out);
}

Result<Derived> derive(const Options& options) {
  LAYARD_TRY(check_options(options));
  gateway::DeriveOptions how = options.derive;
  how.evidence_file = options.evidence;
  if (!options.memory_budget.empty()) {
    LAYARD_ASSIGN(const std::uint64_t bytes, gateway::resident_size(options.memory_budget));
    how.memory_budget_bytes = static_cast<double>(bytes);
  }
  LAYARD_ASSIGN(const std::string text, read_file(options.evidence, gateway::kEvidenceBytesMax));
  LAYARD_ASSIGN(const auto evidence, gateway::parse_evidence(text, options.evidence));
  gateway::DeriveBase base;
  if (!options.base.empty()) {
    LAYARD_ASSIGN(const std::string old, read_file(options.base, gateway::kPolicyBytesMax));
    LAYARD_ASSIGN(base, gateway::read_derive_base(old, options.base));
  }
  gateway::Confusion confusion;
  if (!options.confusion.empty()) {
    LAYARD_ASSIGN(const std::string found,
                  read_file(options.confusion, gateway::kConfusionBytesMax));
    LAYARD_ASSIGN(confusion, gateway::parse_confusion(found, options.confusion));
  }
  Derived out;
  std::optional<gateway::LoggedDecisions> log;
  if (!options.log.empty()) {
    LAYARD_ASSIGN(const std::string lines, read_file(options.log, gateway::kDecisionLogBytesMax));
    LAYARD_ASSIGN(log, gateway::read_decision_log(lines, options.log));
    out.log_faults = gateway::broken_lines_text(*log);
  }
  LAYARD_ASSIGN(out.derivation, gateway::derive_policy(evidence, base.policy, confusion, log, how));
  LAYARD_ASSIGN(out.policy, gateway::write_derived_policy(out.derivation, evidence, base, how));
  return out;
}

int run_derive(const Options& options) {
  const auto derived = derive(options);
  if (!derived.ok()) return report(derived.error());
  const Status written = write_report(options.out, derived->policy);
  if (!written.ok()) return report(written.error());
  if (!derived->log_faults.empty()) {
    std::cerr << "warning: " << printable(options.log) << ": " << derived->log_faults << "\n";
  }
  if (options.format == "json") {
    std::cout << gateway::derivation_json(derived->derivation) << "\n";
  } else {
    print_lines(gateway::print_derivation(derived->derivation));
  }
  return kExitOk;
}

void add_inputs(CLI::App& command, Options& options) {
  command.add_option("--evidence", options.evidence, "A file of route measure")
      ->type_name(kFileType)
      ->required();
  command
      .add_option("--log", options.log,
                  "The gateway's decision log: shares, sizes, turns and the time of a decision "
                  "(default: shares of the cases)")
      ->type_name(kFileType);
  command
      .add_option("--confusion,--eval", options.confusion,
                  "What route eval --format json printed: requests that are taken for another "
                  "class are counted")
      ->type_name(kFileType);
  command
      .add_option("--base", options.base,
                  "A policy whose other members are kept (default: the built-in one)")
      ->type_name(kFileType);
  command.add_option("--out", options.out, "The policy")->type_name(kFileType)->required();
}

void add_costs(CLI::App& command, Options& options) {
  command.add_option("--default", options.derive.default_device,
                     "What devices are compared with (default: that of --base, if it was measured, "
                     "else the first in the evidence)");
  command.add_option("--decision-ms", options.derive.decision_ms,
                     "What asking takes (default: the log's median; without either, only rows "
                     "that the size tells move)");
  command.add_option(
      "--turns", options.derive.turns,
      "Of a conversation, of which the first asks (default: the log's mean, else 1)");
  command.add_option("--memory-budget", options.memory_budget,
                     "For more copies of the model, such as 32GB (default: none)");
  command.add_option("--ms-per-gb", options.derive.ms_per_gb,
                     "What a request must gain for each GB of a copy");
  command.add_option("--format", options.format, "The explanation: a table for people, or JSON")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
}

}  // namespace

void add_route_derive(CLI::App& route, Run& run) {
  CLI::App* command = route.add_subcommand(
      "derive", "A policy from measurements, with the reasons in words; same input, same bytes");
  command->footer(
      "Example:\n"
      "  layard route derive --evidence evidence.json --log decisions.jsonl --base policy.json \\\n"
      "      --confusion eval.json --out new.json\n\n"
      "A row leaves the default device only where the lower end of its gain is worth it.");
  auto options = std::make_shared<Options>();
  add_inputs(*command, *options);
  add_costs(*command, *options);
  command->callback([&run, options] { run = [options] { return run_derive(*options); }; });
}

}  // namespace layard::cli
