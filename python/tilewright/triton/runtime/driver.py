"""triton.runtime.driver: which driver is in use."""
from ..backends.driver import CPUDriver


class DriverConfig:

    def __init__(self):
        self.default = CPUDriver()
        self.active = self.default

    def set_active(self, driver):
        self.active = driver

    def reset_active(self):
        self.active = self.default


driver = DriverConfig()
active = driver.active
