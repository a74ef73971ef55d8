#include "layard/doctor.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "backends/cpu/cpu_count.h"
#include "base/filesystem.h"
#include "base/json.h"
#include "checkpoint/registry.h"
#include "kernels/kernels.h"
#include "runtime/devices.h"
#include "runtime/engine.h"
#include "runtime/golden_self_test.h"
#include "runtime/platform.h"

namespace layard {
namespace {

using Level = Finding::State;

// The starter with its work space, and room for the rest of the process.
constexpr std::uint64_t kMemoryBytesLow = std::uint64_t{512} << 20U;
// A first start of the largest published checkpoint writes this much.
constexpr std::uint64_t kCacheFreeBytesLow = std::uint64_t{2} << 30U;
constexpr const char* kMendModels = "mend the models file, or unset LAYARD_MODELS and --models";

Finding ok(std::string_view name, std::string found) {
  return {std::string(name), Level::kOk, std::move(found), {}};
}

Finding warning(std::string_view name, std::string found, std::string remedy) {
  return {std::string(name), Level::kWarning, std::move(found), std::move(remedy)};
}

Finding failed(std::string_view name, std::string found, std::string remedy) {
  return {std::string(name), Level::kFailed, std::move(found), std::move(remedy)};
}

std::string mebibytes(std::uint64_t bytes) { return std::to_string(bytes >> 20U) + " MiB"; }

Finding examine_kernels(const Environment& environment) {
  const auto table = runtime::choose_kernels(environment);
  if (!table.ok()) {
    return failed("kernels", table.error().message, "unset LAYARD_FORCE_ISA and --isa");
  }
  const Status tested = kernels::self_test(**table);
  const std::string name((*table)->name);
  if (!tested.ok()) {
    return failed("kernels", name + ": " + tested.error().message,
                  "set LAYARD_FORCE_ISA=scalar and report this processor");
  }
  std::string untested;
  const kernels::KernelTable* tables[kernels::kIsas] = {};
  const std::size_t count = kernels::supported_kernels(tables);
  for (std::size_t i = 0; i < count && tables[i] != *table; ++i) {
    untested += (untested.empty() ? "" : ", ") + std::string(tables[i]->name);
  }
  const bool forced = !environment.force_isa.empty();
  const std::string why =
      forced ? "forced by LAYARD_FORCE_ISA or --isa" : "the best that is tested";
  const std::string found = name + ": " + why + "; self-test passed";
  if (forced && !kernels::isa_recorded((*table)->isa)) {
    return warning("kernels", found + "; never recorded on a real processor",
                   "compare with `layard parity` before relying on it");
  }
  if (untested.empty()) return ok("kernels", found);
  return warning("kernels", found + "; faster here: " + untested,
                 forced ? "unset LAYARD_FORCE_ISA and --isa"
                        : "these have no record for just this code (docs/hardware.md); try them "
                          "with LAYARD_FORCE_ISA and `layard parity`");
}

Finding examine_threads(const Environment& environment) {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int affinity = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  const auto online = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  const int allowed = backends::cpu::cpu_count();
  const int used = environment.threads > 0 ? environment.threads : allowed;
  std::string found = std::to_string(used) + " in use; " + std::to_string(online) +
                      " processors, " + std::to_string(affinity) + " by affinity, " +
                      std::to_string(allowed) + " with the container's quota";
  if (used > allowed) {
    return warning("threads", std::move(found),
                   "more threads than processors wait for each other: unset LAYARD_THREADS and "
                   "--threads, or lower them to " +
                       std::to_string(allowed));
  }
  return ok("threads", std::move(found));
}

// The number at the start of a file's text, or nothing (also for `max`).
std::optional<std::uint64_t> number_in(const std::string& path) {
  const auto text = base::real_filesystem().read_text(path, 4096);
  if (!text.ok()) return std::nullopt;
  std::uint64_t value = 0;
  const auto end = text->data() + text->size();
  return std::from_chars(text->data(), end, value).ec == std::errc() ? std::optional(value)
                                                                     : std::nullopt;
}

Finding examine_memory() {
  const std::string available = runtime::file_field("/proc/meminfo", "MemAvailable", ':');
  std::uint64_t kibibytes = 0;
  if (std::from_chars(available.data(), available.data() + available.size(), kibibytes).ec !=
      std::errc()) {
    return warning("memory", "the system does not say how much there is", "mount /proc");
  }
  std::uint64_t bytes = kibibytes << 10U;
  std::string found = mebibytes(bytes) + " available";
  const auto limit = number_in("/sys/fs/cgroup/memory.max");
  if (limit.has_value()) {
    const std::uint64_t left =
        *limit - std::min(*limit, number_in("/sys/fs/cgroup/memory.current").value_or(0));
    found += ", " + mebibytes(left) + " left of the container's";
    bytes = std::min(bytes, left);
  }
  if (bytes >= kMemoryBytesLow) return ok("memory", std::move(found));
  return warning("memory", std::move(found),
                 "starter needs some " + mebibytes(kMemoryBytesLow) + "; give it more memory");
}

// Whether a file can be made and written there: permissions alone do not say (read-only and full
// disks, other users' folders).
Status try_to_write(const std::filesystem::path& folder) {
  base::Filesystem& files = base::real_filesystem();
  LAYARD_TRY(files.make_folders(folder));
  const auto path = folder / (".doctor-" + std::to_string(getpid()));
  const Status written = base::write_private_atomically(files, path, "layard doctor\n");
  const Status removed = files.remove(path);
  LAYARD_TRY(written);
  return removed;
}

Finding examine_cache(const Environment& environment) {
  constexpr const char* kCost = "works without, but hashes and packs weights at every start";
  if (environment.cache_dir.empty()) {
    return warning("cache", std::string("no folder: ") + kCost, "set LAYARD_CACHE or HOME");
  }
  const std::string folder = "'" + environment.cache_dir + "'";
  const Status status = try_to_write(environment.cache_dir);
  if (!status.ok()) {
    return warning("cache", status.error().message + ": " + kCost,
                   "make " + folder + " this user's, or set LAYARD_CACHE to a folder that is");
  }
  const auto listing = cache_list_json(environment);
  if (!listing.ok()) {
    return warning("cache", listing.error().message + ": " + kCost,
                   "chmod 700 the folder, or remove it: it is made again");
  }
  if (environment.cache_bytes_max == 0) {
    return warning("cache", "LAYARD_CACHE_MAX is 0: weights are packed at every start",
                   "unset LAYARD_CACHE_MAX");
  }
  const auto free = base::real_filesystem().free_bytes(environment.cache_dir);
  std::string found = folder + " can be written";
  if (free.ok()) found += ", " + mebibytes(*free) + " free";
  if (!free.ok() || *free >= kCacheFreeBytesLow) return ok("cache", std::move(found));
  return warning("cache", std::move(found),
                 "large checkpoints need some " + mebibytes(kCacheFreeBytesLow) +
                     " there once; `layard cache prune` frees what is old");
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

Finding examine_checkpoints(const Environment& environment, bool offline) {
  const auto names = model_names(environment);
  if (!names.ok()) {
    return failed("checkpoints", names.error().message, kMendModels);
  }
  std::vector<std::string> here;
  std::vector<std::string> missing;
  for (const std::string& name : *names) {
    // A registered one that is not here is no fault; a folder of the models file would be.
    const auto found = tokenizer_path(environment, true, name);
    if (found.ok()) {
      here.push_back(name);
    } else if (checkpoint::find_spec(name) != nullptr &&
               found.error().code == ErrorCode::kBackendUnavailable) {
      missing.push_back(name);
    } else {
      return failed("checkpoints", name + ": " + found.error().message,
                    "mend or remove it; `layard download` fetches registered ones again");
    }
  }
  std::string found = "here: " + (here.empty() ? "none" : listed(here));
  if (!missing.empty()) {
    found += "; not here: " + listed(missing) +
             (offline ? " (and the network is off)" : " (`layard download NAME` fetches one)");
  }
  return ok("checkpoints", std::move(found));
}

Finding examine_network(const Environment& environment, bool local_files_only) {
  if (local_files_only) return ok("network", "off, by --offline");
  if (environment.hub_offline)
    return ok("network", "off, by HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE");
  return ok("network",
            "on for `layard download` and first uses of registered checkpoints; not tried");
}

// What an answer takes from text to probabilities on this machine, and whether it is right.
Finding examine_starter(const Environment& environment, bool local_files_only) {
  // Every name is looked up in the models file first, starter's too.
  const char* const remedy =
      model_names(environment).ok() ? "install Layard again: starter comes with it" : kMendModels;
  ModelOptions options;
  options.environment = environment;
  options.local_files_only = local_files_only;
  const auto engine = runtime::Engine::open(options);
  if (!engine.ok()) return failed("starter", engine.error().message, remedy);
  const auto model = (*engine)->ensure_loaded();
  if (!model.ok()) return failed("starter", model.error().message, remedy);
  const Status status = runtime::golden_self_test(
      **model, [&](std::span<const encoder::ModelRow> rows, std::span<encoder::RowOutput> outputs) {
        return (*engine)->run_rows(**model, rows, outputs);
      });
  if (!status.ok()) return failed("starter", status.error().message, remedy);
  return ok("starter", "answers as recorded (" + std::string((*model)->isa()) + ", " +
                           (*model)->dtype() + ")");
}

}  // namespace

std::string_view state_name(Finding::State state) {
  switch (state) {
    case Level::kOk:
      return "ok";
    case Level::kWarning:
      return "warning";
    case Level::kFailed:
      return "failed";
  }
  return "failed";
}

std::vector<Finding> examine(const Environment& environment, bool local_files_only) {
  std::vector<Finding> findings;
  findings.push_back(ok("processor", runtime::processor_name()));
  findings.push_back(examine_kernels(environment));
  findings.push_back(examine_threads(environment));
  findings.push_back(examine_memory());
  findings.push_back(examine_cache(environment));
  findings.push_back(examine_checkpoints(environment, local_files_only || environment.hub_offline));
  findings.push_back(examine_network(environment, local_files_only));
  findings.push_back(ok("devices", "cpu; gpu and npu are not part of this build"));
  findings.push_back(examine_starter(environment, local_files_only));
  return findings;
}

std::string print_findings(const std::vector<Finding>& findings) {
  Finding::State worst = Level::kOk;
  base::JsonValue list = base::JsonValue::array();
  for (const Finding& finding : findings) {
    worst = std::max(worst, finding.state);
    base::JsonValue one = base::JsonValue::object();
    one.set("name", base::JsonValue::string(finding.name));
    one.set("status", base::JsonValue::string(std::string(state_name(finding.state))));
    one.set("found", base::JsonValue::string(finding.found));
    one.set("remedy", finding.remedy.empty() ? base::JsonValue::null()
                                             : base::JsonValue::string(finding.remedy));
    list.push_back(std::move(one));
  }
  base::JsonValue out = base::JsonValue::object();
  out.set("status", base::JsonValue::string(std::string(state_name(worst))));
  out.set("findings", std::move(list));
  return write_json(out, base::JsonStyle::kIndent1);
}

}  // namespace layard
