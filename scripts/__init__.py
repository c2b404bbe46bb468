"""Cloud-side jobs. They use the published SDKs; endpoint settings decide between cloud and local."""
