#include "route_check.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>

#include "gateway/policy_report.h"
#include "input.h"
#include "table.h"

namespace layard::cli {
namespace {

constexpr std::size_t kLineBytesMax = 2000;
constexpr std::int64_t kDaysMax = 36500;

struct CheckOptions {
  std::string file;
  std::string format = "text";
  std::string profile;
  std::string model_sha256;
  std::int64_t max_age_days = gateway::kEvidenceDaysMax;
  bool strict = false;
  bool schema = false;
};

std::string bounded(const std::string& line) {
  const std::string text = printable(line.substr(0, kLineBytesMax));
  return line.size() > kLineBytesMax ? text + "..." : text;
}

int print_report(const gateway::PolicyCheck& check, const CheckOptions& options,
                 std::int64_t now_s) {
  const bool refused = check.findings.errors() > 0;
  const bool failed = refused || (options.strict && check.findings.warnings() > 0);
  if (options.format == "json") {
    std::cout << gateway::policy_check_json(check, options.file, options.strict, now_s) << "\n";
  } else {
    for (const std::string& line : gateway::finding_lines(check.findings, options.file)) {
      std::cerr << bounded(line) << "\n";
    }
    if (!failed) print_lines(gateway::policy_table(check, options.file, now_s));
  }
  if (!failed) return kExitOk;
  return report({ErrorCode::kInvalidRequest,
                 "route policy: " + gateway::finding_counts(check.findings) +
                     (refused ? "" : ", and --strict takes none") + " in " + options.file});
}

int run_check(const CheckOptions& options) {
  if (options.schema) {
    std::cout << gateway::policy_schema();
    return kExitOk;
  }
  if (options.file.empty()) {
    return report({ErrorCode::kInvalidRequest,
                   "a policy file is needed: layard route check FILE (or --schema)"});
  }
  if (options.max_age_days < 0 || options.max_age_days > kDaysMax) {
    return report({ErrorCode::kInvalidRequest, "--max-age-days must be from 0 to 36500"});
  }
  const auto text = read_file(options.file, gateway::kPolicyBytesMax);
  if (!text.ok()) return report(text.error());
  const std::int64_t now_s = seconds_since_1970();
  const gateway::PolicyCheck check = gateway::check_policy(
      *text, options.file, {options.profile, options.model_sha256, now_s, options.max_age_days});
  return print_report(check, options, now_s);
}

}  // namespace

void print_lines(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::cout << printable(text.substr(0, end)) << "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::int64_t seconds_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

void add_route_check(CLI::App& route, Run& run) {
  CLI::App* command = route.add_subcommand(
      "check", "All that is wrong with a policy file, JSON or YAML; exit 2 with an error in it");
  auto options = std::make_shared<CheckOptions>();
  command->add_option("file", options->file, "The policy")->type_name(kFileType);
  command->add_flag("--strict", options->strict, "Warnings count as errors");
  command->add_option("--format", options->format, "Lines for people, or JSON")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_option("--profile", options->profile,
                      "This machine: evidence of another profile is an error");
  command->add_option("--model-sha256", options->model_sha256,
                      "The model served: evidence of another is an error");
  command
      ->add_option("--max-age-days", options->max_age_days,
                   "Evidence that is older is warned about")
      ->type_name("INT")
      ->capture_default_str();
  command->add_flag("--schema", options->schema, "Print the JSON Schema of policy files instead");
  command->callback([&run, options] { run = [options] { return run_check(*options); }; });
}

}  // namespace layard::cli
