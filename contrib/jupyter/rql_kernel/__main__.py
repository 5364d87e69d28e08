from ipykernel.kernelapp import IPKernelApp

from .kernel import RqlKernel

IPKernelApp.launch_instance(kernel_class=RqlKernel)
