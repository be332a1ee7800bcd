"""Every question that a mixture of forests answers exactly, as functions of its blocks and its domain.

The functions accept any object with these two attributes (:class:`juror.answers.block.Mixture`). The methods of
:class:`juror.JointPMF` call them.
"""
