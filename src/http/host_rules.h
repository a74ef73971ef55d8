/// Which requests a server on loopback takes: those that name it by a loopback address, and those
/// of its own pages.
///
/// A page of another site must not be able to use a server on loopback: the Host rule stops names
/// that were pointed at 127.0.0.1, the Origin rule everything else a browser sends.
/// Thread-safety: pure.
#pragma once

#include <string_view>

#include "http/message.h"

namespace layard::http {

/// Whether `host` (without a port, lower case, IPv6 without brackets) is this machine only:
/// `localhost`, 127.0.0.0/8 or ::1. IPv4 addresses mapped into IPv6 and zone ids are not.
bool is_loopback_host(std::string_view host);

/// Whether the Host field names a loopback host.
bool names_loopback_host(const Fields& fields);

/// Whether an Origin field is absent, or is the server's own as the Host field names it.
bool is_own_origin(const Fields& fields);

}  // namespace layard::http
