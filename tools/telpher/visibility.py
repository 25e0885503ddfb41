# SPDX-License-Identifier: BSD-3-Clause
"""Which devices a process is shown, by the rules of each vendor's variables, and how a rank is shown fewer or
in another order. What the user or the batch system set stays in force: a choice is made within it.

CUDA   CUDA_VISIBLE_DEVICES: numbers, or identifiers (GPU-..., MIG-...) that may be cut short. The list ends
       at the first entry that names no device. Its order is the order of the devices.
HIP    ROCR_VISIBLE_DEVICES works below HIP: numbers or identifiers of all devices. HIP_VISIBLE_DEVICES, or
       else CUDA_VISIBLE_DEVICES, numbers what is left. Orders count in both.
SYCL   ZE_AFFINITY_MASK works below SYCL: devices, or their parts (0.1). ONEAPI_DEVICE_SELECTOR numbers what
       is left, and may name another backend altogether. Neither changes the order of devices.
"""
ORDERED = ("cuda", "hip")  # whose variables put devices in order
VARIABLES = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
             "ZE_AFFINITY_MASK", "ZE_FLAT_DEVICE_HIERARCHY", "ONEAPI_DEVICE_SELECTOR")


def words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",")]


def _named(devices: list, word: str):
    """The device that a number or an identifier names, else None."""
    if word.isdigit():
        return devices[int(word)] if int(word) < len(devices) else None
    found = [d for d in devices if word and d.uuid and d.uuid.lower().startswith(word.lower())]
    return found[0] if len(found) == 1 else None


def _listed(devices: list, text: str, foreign=("MIG-",)) -> list:
    """The devices of a list, which ends at the first entry that names none. A part of a device that only
    its runtime knows is taken at its word."""
    found = []
    for word in words(text):
        device = _named(devices, word)
        if not device and word.startswith(foreign):
            device = type(devices[0])(devices[0].vendor, word, "", word)
        if not device:
            break
        found.append(device.known_as(word))
    return found


def _renumbered(devices: list) -> list:
    return [d.known_as(str(i)) for i, d in enumerate(devices)]


def _cuda(devices: list, environment) -> list:
    given = environment.get("CUDA_VISIBLE_DEVICES")
    return devices if given is None else _listed(devices, given)


def _hip(devices: list, environment) -> list:
    below = environment.get("ROCR_VISIBLE_DEVICES")
    if below is not None:
        devices = _renumbered(_listed(devices, below, ()))
    given = environment.get("HIP_VISIBLE_DEVICES", environment.get("CUDA_VISIBLE_DEVICES"))
    return devices if given is None or not devices else _listed(devices, given, ())


def _selected_numbers(text: str) -> "list[str] | None":
    """The numbers in level_zero:0,2 (several such terms add up); None where all devices stay, [] where Level
    Zero's are left out."""
    numbers = []
    for term in text.lower().split(";"):
        backend, _, wanted = term.strip().partition(":")
        if backend.startswith("!") or backend not in ("level_zero", "*"):
            continue
        for word in words(wanted):
            if word in ("*", "gpu"):
                return None
            if word.isdigit():
                numbers.append(word)
    return numbers


def _sycl(devices: list, environment) -> list:
    mask = environment.get("ZE_AFFINITY_MASK")
    if mask:
        shown = []
        for word in words(mask):
            device = _named(devices, word.partition(".")[0])
            shown += [device.known_as(word)] if device else []
        devices = shown
    selector = environment.get("ONEAPI_DEVICE_SELECTOR")
    numbers = _selected_numbers(selector) if selector else None
    return devices if numbers is None else [devices[int(n)] for n in numbers if int(n) < len(devices)]


RULES = {"cuda": _cuda, "hip": _hip, "sycl": _sycl}


def allowed(devices: list, environment) -> list:
    """Those of one vendor's devices that the process is shown, in its order; each `token` is what the
    innermost variable calls it."""
    return RULES[devices[0].vendor](devices, environment) if devices else []


def show(devices: list, environment) -> None:
    """Shows these of the allowed devices and no others, in this order where the vendor has one."""
    vendor = devices[0].vendor
    tokens = ",".join(d.token for d in devices)
    if vendor == "sycl":
        environment["ZE_AFFINITY_MASK"] = tokens
        if _selected_numbers(environment.get("ONEAPI_DEVICE_SELECTOR", "*:gpu")) is not None:
            environment["ONEAPI_DEVICE_SELECTOR"] = "level_zero:gpu"  # its numbers counted what the mask removed
        return
    if vendor == "cuda":
        if environment.get("CUDA_VISIBLE_DEVICES") is None:  # numbers given by others are in the order in force
            environment.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
        environment["CUDA_VISIBLE_DEVICES"] = tokens
        return
    environment["HIP_VISIBLE_DEVICES"] = tokens


def in_force(environment) -> dict:
    """The variables that are set, for telpher info."""
    return {name: environment[name] for name in VARIABLES if name in environment}
